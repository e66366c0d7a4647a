"""What the type checker says about changes of values; the plugin is scripts/typed_changes.py."""

from pathlib import Path

from mypy import api

ROOT = Path(__file__).parent.parent
CHANGES = """
from bot.domain.roundtable.state import Roundtable
from bot.domain.values.value import Value


class Counter(Value):
    count: int = 0

    def up(self) -> "Counter":
        return self.but(count=self.count + 1)

    def typo(self) -> "Counter":
        return self.but(cuont=1)


class Named(Counter):
    name: str | None = None


def either(value: Counter | Named) -> Counter:
    return value.but(name="x")


def changed(rt: Roundtable) -> Roundtable:
    Named(name="x").but(name=None, count=2)
    Counter().but(count="not an int")
    return rt.but(stage=3, no_such_field=1)


reveal_type(Named().but(count=1))
"""
SAID = """\
13: error: Unexpected keyword argument "cuont" for "but" of "Value"; did you mean "count"?  [call-arg]
21: error: Unexpected keyword argument "name" for "but" of "Value"  [call-arg]
26: error: Argument "count" to "but" of "Value" has incompatible type "str"; expected "int"  [arg-type]
27: error: Unexpected keyword argument "no_such_field" for "but" of "Value"  [call-arg]
27: error: Argument "stage" to "but" of "Value" has incompatible type "int"; expected "Stage"  [arg-type]
30: note: Revealed type is "changes.Named"
"""


def test_a_change_has_the_fields_and_types_of_its_class(tmp_path: Path) -> None:
    """Unknown fields and values of another type are errors of `scripts/check`; the result keeps its class."""
    module = tmp_path / "changes.py"
    module.write_text(CHANGES, encoding="utf-8")

    found, failed, _ = api.run(
        [f"--config-file={ROOT / 'pyproject.toml'}", f"--cache-dir={tmp_path / 'cache'}", str(module)]
    )

    assert not failed
    said = [line.partition(":")[2] for line in found.splitlines() if line.startswith(str(module))]
    assert [line for line in said if "defined in" not in line] == SAID.splitlines()
