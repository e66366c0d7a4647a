"""
A mypy plugin: `value.but(field=...)` takes the fields of the value's own class, each with its declared type.

At run time `but` takes any keyword (bot/domain/values/value.py). Here it gets a signature for each class: every field
an optional keyword, and nothing else. So a field that does not exist, and a value of the wrong type, are errors.
"""

from collections.abc import Callable

from mypy.nodes import ARG_NAMED_OPT, MDEF, TypeInfo, Var
from mypy.plugin import MethodSigContext, Plugin
from mypy.types import FunctionLike, Instance, Type, TypeVarLikeType, get_proper_type

VALUE = "bot.domain.values.value.Value"


class TypedChanges(Plugin):
    def get_method_signature_hook(self, fullname: str) -> Callable[[MethodSigContext], FunctionLike] | None:
        owner, _, method = fullname.rpartition(".")
        if method != "but" or not self._is_value(owner):
            return None
        return _signature

    def _is_value(self, owner: str) -> bool:
        symbol = self.lookup_fully_qualified(owner)
        return bool(symbol and isinstance(symbol.node, TypeInfo) and symbol.node.has_base(VALUE))


def _signature(context: MethodSigContext) -> FunctionLike:
    instance = get_proper_type(context.type)
    while isinstance(instance, TypeVarLikeType):
        instance = get_proper_type(instance.upper_bound)
    if not isinstance(instance, Instance):
        return context.default_signature
    fields = _fields(instance.type)
    return context.default_signature.copy_modified(
        arg_names=list(fields),
        arg_kinds=[ARG_NAMED_OPT] * len(fields),
        arg_types=list(fields.values()),
    )


def _fields(info: TypeInfo) -> dict[str, Type]:
    """Annotated names of the class and its bases, without class variables and what pydantic keeps for itself."""
    found: dict[str, Type] = {}
    for base in reversed(info.mro):
        if not base.has_base(VALUE):
            continue
        for name, symbol in base.names.items():
            node = symbol.node
            if symbol.kind == MDEF and isinstance(node, Var) and node.type and _is_field(node):
                found[name] = node.type
    return found


def _is_field(node: Var) -> bool:
    return not (node.is_classvar or node.name.startswith(("_", "model_")))


def plugin(_version: str) -> type[Plugin]:
    return TypedChanges
