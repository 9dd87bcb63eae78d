"""Users and passwords in addresses."""

from __future__ import annotations

import pytest

from suphx.credentials import has_credentials, is_unclear, without_credentials


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("https://me:secret@host.example.org/x", "https://host.example.org/x"),
        ("see http://token@host:5000 and s3://a:b@bucket/runs", "see http://host:5000 and s3://bucket/runs"),
        ("http://me:p@ss@host/a@b", "http://host/a@b"),
        ('{"uri": "http://me:secret@host"}', '{"uri": "http://host"}'),
    ],
)
def test_users_and_passwords_are_left_out(text: str, clean: str) -> None:
    assert has_credentials(text)
    assert without_credentials(text) == clean


@pytest.mark.parametrize(
    "address", ["http://me:se/cret@host", "http://me:p@se?cret@host:80/x", "https://me:se#cret@host", "http://a b@c"]
)
def test_an_address_whose_password_has_characters_of_another_part_is_unclear(address: str) -> None:
    assert is_unclear(address)


@pytest.mark.parametrize("address", ["http://me:se%2Fcret@host/x", "http://me:p@ss@host", "https://host:80/x", ""])
def test_an_address_of_a_host_and_a_path_is_clear(address: str) -> None:
    assert not is_unclear(address)


@pytest.mark.parametrize(
    "text", ["http://host/a@b", "models:/suphx@champion", "sqlite:////runs/mlflow.db", "me@example.org", "http://a b@c"]
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert not has_credentials(text)
    assert without_credentials(text) == text
