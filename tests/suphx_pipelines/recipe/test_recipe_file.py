from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import pytest

from suphx_pipelines.recipe.recipe_file import find_recipe, flatten, load_config, read_table, to_table, to_toml
from tests.repository import RECIPES
from tests.suphx_pipelines.recipe.small_recipe import load_recipe


def test_a_shipped_recipe_is_found_from_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_recipe(Path("laptop")) == RECIPES / "laptop.toml"
    assert load_recipe(Path("laptop")).name == "laptop"


@pytest.mark.parametrize("name", ["laptop", "laptop.toml", "./laptop.toml"])
def test_a_file_of_the_user_wins_over_a_shipped_recipe(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "laptop.toml").write_text('name = "mine"\n', encoding="utf-8")
    assert read_table(Path(name)) == {"name": "mine"}


@pytest.mark.parametrize("base", ["laptop", "laptop.toml", "other.toml", "other"])
def test_a_recipe_extends_by_name_or_by_a_path_relative_to_itself(
    base: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")
    (tmp_path / "other.toml").write_text('name = "other"\nseed = 7\n', encoding="utf-8")
    (tmp_path / "mine.toml").write_text(f'extends = "{base}"\nname = "mine"\n', encoding="utf-8")
    table = read_table(tmp_path / "mine.toml")
    assert (table["name"], table["seed"]) == ("mine", 7 if "other" in base else 1)


def test_a_recipe_can_have_the_name_of_the_one_that_it_extends(tmp_path: Path) -> None:
    mine = tmp_path / "laptop.toml"
    mine.write_text('extends = "laptop"\nname = "mine"\n', encoding="utf-8")
    table = read_table(mine)
    assert (table["name"], table["seed"]) == ("mine", 1)
    mine.write_text('extends = "./mine"\n', encoding="utf-8")
    mine.rename(tmp_path / "mine.toml")
    with pytest.raises(ValueError, match="it extends itself"):
        read_table(tmp_path / "mine.toml")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("labtop", "did you mean 'laptop'"),
        ("paper/rl1", "did you mean 'paper/rl_1'"),
        ("laptop.toml", "did you mean 'laptop'"),
        ("xyzzy", "xyzzy: no such recipe: use a TOML file, or one of agent, agent_comparison, "),
        ("minne.toml", r"did you mean 'mine\.toml'"),
        (".", r"\. is a folder"),
        ("", r"\. is a folder"),
    ],
)
def test_a_mistyped_name_is_an_error_with_the_closest_one(
    name: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text('name = "mine"\n', encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        find_recipe(Path(name))


@dataclass(frozen=True, slots=True, kw_only=True)
class Learner:
    learning_rate: float
    steps: int = 10
    is_augmented: bool = False
    limit: int | None = None
    is_teacher: bool = field(default=False, metadata={"set_by": "the second stage sets it"})

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise ValueError(f"steps is {self.steps}: use at least 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    name: str
    size: Literal["tiny", "small"] = "tiny"
    layers: tuple[int, ...] = ()
    learner: Learner
    critic: Learner = field(default_factory=lambda: Learner(learning_rate=0.5, steps=3))


GOOD = """
name = "a"
layers = [1, 2]
[learner]
learning_rate = 1
[critic]
limit = 7
"""


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    path = tmp_path / "recipe.toml"
    path.write_text(GOOD)
    return path


def test_a_recipe_becomes_typed_dataclasses(recipe: Path) -> None:
    config = load_config(Config, recipe)
    critic = Learner(learning_rate=0.5, steps=3, limit=7)
    assert config == Config(name="a", layers=(1, 2), learner=Learner(learning_rate=1.0), critic=critic)
    assert type(config.learner.learning_rate) is float


@pytest.mark.parametrize(
    ("before", "after", "key"),
    [
        ("[critic]", "[critics]", "critics.limit: there is no such key: did you mean critic?"),
        ("layers", "layer", "layer: there is no such key"),
        ('name = "a"', "", "name: this key is missing"),
        ("learning_rate = 1\n", "", "learner.learning_rate: this key is missing"),
        ("= 1\n", '= "1"\n', "learner.learning_rate: '1': "),
        ("= 1\n", "= true\n", "learner.learning_rate: True: "),
        ("= 1\n", "= nan\n", "learner.learning_rate: nan: "),
        ("= 1\n", f"= {10**400}\n", "learner.learning_rate: 1000"),
        ("= 1\n", "= 1\nsteps = 1.5\n", "learner.steps: 1.5: "),
        ("= 1\n", "= 1\nsteps = true\n", "learner.steps: True: "),
        ("= 1\n", "= 1\nis_augmented = 1\n", "learner.is_augmented: 1: "),
        ("= 1\n", "= 1\nsteps = 0\n", "learner: steps is 0: use at least 1"),
        ("limit = 7", "steps = -3\n", "critic: steps is -3: use at least 1"),
        ("[1, 2]", "[1, 2.5]", "layers: 2.5: "),
        ("[1, 2]", "3", "layers: 3: "),
        ("[1, 2]", '[]\nsize = "huge"', "size: 'huge': "),
        (GOOD, 'name = "a"\nlearner = 3\n', "learner: 3 is a value, and this is a table"),
        ("= 1\n", "= 1\nis_teacher = true\n", "learner.is_teacher: this is not a key of a recipe: the second stage"),
        (GOOD, "name = \n", "is not TOML: Invalid value (at line 1"),
        (GOOD, "a = " + 5_000 * "[" + "\n", "is not TOML: its values are nested too deeply"),
    ],
)
def test_a_bad_recipe_is_refused_with_file_and_key(recipe: Path, before: str, after: str, key: str) -> None:
    recipe.write_text(GOOD.replace(before, after))
    with pytest.raises(ValueError) as error:
        load_config(Config, recipe)
    assert str(error.value).startswith(str(recipe))
    assert key in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("learner.learning_rate", "3e-4", 3e-4),
        ("learner.learning_rate", "2", 2.0),
        ("learner.limit", "5", 5),
        ("learner.is_augmented", "true", True),
        ("name", "plain words", "plain words"),
        ("name", "123", "123"),
        ("name", '"quoted"', "quoted"),
        ("size", "small", "small"),
        ("layers", "[4, 5]", [4, 5]),
        ("critic.learning_rate", "0.1", 0.1),
    ],
)
def test_an_override_has_the_type_of_its_field(recipe: Path, key: str, text: str, value: object) -> None:
    assert flatten(to_table(load_config(Config, recipe, [(key, text)])))[key] == value


@pytest.mark.parametrize(
    ("key", "text", "message"),
    [
        ("learner.steps", "many", "'many': "),
        ("learner.is_augmented", "True", "'True': "),
        ("name.first", "b", "name is a value and has no keys"),
        ("size", "huge", "'huge': "),
        ("learner", "3", "3 is a value, and this is a table"),
        ("layers", "4", "4: "),
        ("nothing.here", "1", "there is no such key: use name, size, layers, learner, critic"),
        ("learning_rate", "1", "there is no such key: did you mean learner.learning_rate?"),
        ("learner.is_teacher", "true", "this is not a key of a recipe: the second"),
        ("learner.step", "1", "there is no such key: did you mean learner.steps?"),
    ],
)
def test_a_bad_override_is_refused(recipe: Path, key: str, text: str, message: str) -> None:
    with pytest.raises(ValueError) as error:
        load_config(Config, recipe, [(key, text)])
    assert str(error.value).startswith(f"--set {key}={text}: {message}")


def test_the_resolved_recipe_reads_back_to_the_same(recipe: Path, tmp_path: Path) -> None:
    config = load_config(Config, recipe, [("learner.learning_rate", "1e-7"), ("name", 'with "quotes" 点')])
    path = tmp_path / "resolved.toml"
    path.write_text(to_toml(config), encoding="utf-8")
    assert load_config(Config, path) == config
    learner = tomllib.loads(path.read_text())["learner"]
    assert learner["steps"] == 10, "defaults are written out"
    assert "is_teacher" not in learner


def test_a_recipe_says_what_is_different_from_another(recipe: Path, tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    second = tmp_path / "more" / "second.toml"
    second.write_text(f'extends = "../{recipe.name}"\nname = "b"\n[learner]\nsteps = 3\n')
    third = tmp_path / "more" / "third.toml"
    third.write_text('extends = "second.toml"\nlayers = [7]\n')
    base, changed = load_config(Config, recipe), load_config(Config, third, [("size", "small")])
    learner = replace(base.learner, steps=3)
    assert changed == replace(base, name="b", layers=(7,), size="small", learner=learner)


@pytest.mark.parametrize(
    ("extends", "message"),
    [
        ('"self.toml"', "extends itself"),
        ('"none.toml"', r"none\.toml: no such recipe"),
        ("7", "extends: 7 is not a text in quotes"),
    ],
)
def test_a_recipe_that_extends_nothing_is_refused(tmp_path: Path, extends: str, message: str) -> None:
    path = tmp_path / "self.toml"
    path.write_text(f"extends = {extends}\n")
    with pytest.raises(ValueError, match=message):
        load_config(Config, path)


def test_an_inline_table_of_an_override_changes_only_the_keys_that_it_names(recipe: Path) -> None:
    text = "{steps = 9, limit = 7}"
    before = load_config(Config, recipe)
    changed = load_config(Config, recipe, [("learner", text), ("learner.steps", "10")])
    assert changed.learner == replace(before.learner, steps=10, limit=7)
    assert load_config(Config, recipe, [("critic", "{steps = 2}")]).critic == replace(before.critic, steps=2)
    with pytest.raises(ValueError, match=r"--set learner\.speed=1: there is no such key"):
        load_config(Config, recipe, [("learner", "{speed = 1}")])


@pytest.mark.parametrize("key", ["name", "learner.steps"])
def test_no_value_may_contain_a_password_and_the_error_does_not_name_it(recipe: Path, key: str) -> None:
    with pytest.raises(ValueError, match="contains a user or a password") as caught:
        load_config(Config, recipe, [(key, "s3://me:planted@host/x")])
    assert "planted" not in str(caught.value)
    recipe.write_text(GOOD.replace('"a"', '"http://me:planted@host"'))
    with pytest.raises(ValueError, match="contains a user or a password") as caught:
        load_config(Config, recipe)
    assert "planted" not in str(caught.value)
