"""Users and passwords in addresses."""

from __future__ import annotations

import pytest

from suphx.credentials import has_credentials, without_credentials


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
    "text", ["http://host/a@b", "models:/suphx@champion", "sqlite:////runs/mlflow.db", "me@example.org", "http://a b@c"]
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert not has_credentials(text)
    assert without_credentials(text) == text
