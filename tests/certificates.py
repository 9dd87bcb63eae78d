"""An authority of one test that signs certificates for servers on this machine."""

from __future__ import annotations

import ipaddress
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

_DAY = timedelta(days=1)


class Authority:
    """Usage::

    authority = Authority(tmp_path)
    server_side = authority.server("127.0.0.1")
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._name = _name("Authority of a test")
        self._key = ec.generate_private_key(ec.SECP256R1())
        constraints = x509.BasicConstraints(ca=True, path_length=None)
        builder = self._builder(self._name, self._key.public_key(), timedelta(0))
        self.file = folder / "authority.pem"
        """Its certificate."""
        self.file.write_bytes(self._sign(builder.add_extension(constraints, critical=True)))

    def server(self, name: str, age: timedelta = timedelta(0)) -> ssl.SSLContext:
        """Return what a server needs whose certificate, valid for a day, was signed ``age`` ago for a name or IP."""
        key = ec.generate_private_key(ec.SECP256R1())
        try:
            subject: x509.GeneralName = x509.IPAddress(ipaddress.ip_address(name))
        except ValueError:
            subject = x509.DNSName(name)
        builder = self._builder(_name("A server"), key.public_key(), age)
        certificate = self._sign(builder.add_extension(x509.SubjectAlternativeName([subject]), critical=False))
        file = self._folder / "server.pem"
        file.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()) + certificate)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        return context

    def _builder(self, subject: x509.Name, key: ec.EllipticCurvePublicKey, age: timedelta) -> x509.CertificateBuilder:
        begin = datetime.now(UTC) - age - timedelta(minutes=5)
        builder = x509.CertificateBuilder().subject_name(subject).issuer_name(self._name).public_key(key)
        builder = builder.serial_number(x509.random_serial_number()).not_valid_before(begin)
        return builder.not_valid_after(begin + _DAY)

    def _sign(self, builder: x509.CertificateBuilder) -> bytes:
        return builder.sign(self._key, hashes.SHA256()).public_bytes(Encoding.PEM)


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])
