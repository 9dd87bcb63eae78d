"""Liveness probe of an MLflow server with HTTPS: is it healthy, and does it serve the certificate that is mounted?

The server reads its certificate only when it starts. When the mounted one has been renewed, the probe of the chart
fails and Kubernetes restarts the container, before the old certificate expires:

    python -m suphx_platform.tracking.server_probe /tls/tls.crt 5000
"""

from __future__ import annotations

import http.client
import re
import ssl
import sys
from contextlib import suppress
from pathlib import Path

_CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)
_SECONDS = 5.0
"""For each operation at the socket: all of them must end within ``timeoutSeconds`` of the chart's probe (20)."""


def problem_of(port: int, certificate: Path) -> str:
    """Return what is wrong with the server at a port of this machine; empty if nothing is.

    ``certificate``: PEM file that begins with the server's own certificate. A file without one, or that cannot be read,
    is not a problem of the server, which would not start again with it.
    """
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # it is compared instead
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=_SECONDS, context=context)
    try:
        connection.connect()
        served = connection.sock.getpeercert(binary_form=True)
        connection.request("GET", "/health")
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        return f"the server does not answer: {error}"
    finally:
        connection.close()
    if status != http.HTTPStatus.OK:
        return f"/health returned status {status}"
    with suppress(OSError, ValueError):  # no base64, no text
        mounted = _CERTIFICATE.search(certificate.read_text(encoding="utf-8"))
        if mounted is not None and ssl.PEM_cert_to_DER_cert(mounted[0]) != served:
            return f"{certificate} was renewed after the server had read it: the server must restart"
    return ""


def main(arguments: list[str]) -> int:
    """Print the problem and return 1 if there is one."""
    certificate, port = arguments
    problem = problem_of(int(port), Path(certificate))
    if problem:
        print(problem, file=sys.stderr)
    return 1 if problem else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
