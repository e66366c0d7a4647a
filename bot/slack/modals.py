"""
Forms as Slack's modals: an InputForm becomes a view, and a submitted view what a person entered.

`private_metadata` has ids and a revision only. A field is `roundtable.FIELD` in the block `FIELD.REVISION`: a block
of another revision does not keep what was chosen in an older one.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, assert_never

from bot.domain.messages.form import (
    FieldKind,
    FieldValue,
    FormField,
    FormName,
    FormOption,
    InputForm,
    Submission,
    SubmissionResult,
)
from bot.domain.values.text import clean
from bot.domain.values.timestamps import written_at
from bot.slack.client import Identity
from bot.slack.limits import ID_CHARS, LABEL_CHARS, SECTION_CHARS, shortened, size
from bot.slack.markdown import mrkdwn
from bot.slack.parse import Malformed, Payload, clicker, is_id, known, needed, part, word
from bot.slack.render import PREFIX, plain_text, section_block

SUFFIX = "_form"
TITLE_CHARS = 24
"""Of a title, and of the two buttons."""
PLACEHOLDER_CHARS = 150
FIELD_LABEL_CHARS = 2_000
INPUT_CHARS = 3_000
VIEW_BLOCKS = 100
RADIO_OPTIONS = 10
MOST_OPTIONS = 100

View = dict[str, Any]


# --- out ------------------------------------------------------------------------------------------------------------


def with_users(form: InputForm, us: Identity) -> InputForm:
    """*form*, in which people are chosen by their ids in Slack."""

    def shown(field: FormField) -> FormField:
        is_of_people = field.kind is FieldKind.PEOPLE and isinstance(field.initial, tuple)
        return field.but(initial=tuple(map(us.people.user, field.initial))) if is_of_people else field

    return form.but(fields=tuple(map(shown, form.fields)))


def view(form: InputForm) -> View:
    ids = {"i": form.slug, "s": form.subject, "r": form.revision}
    intro = shortened(mrkdwn(form.intro), SECTION_CHARS)
    blocks = [*([section_block(intro)] if intro else []), *map(_input, form.fields)]
    return {
        "type": "modal",
        "callback_id": callback_id(form.name),
        "title": plain_text(form.title, TITLE_CHARS),
        "submit": plain_text(form.submit, TITLE_CHARS),
        "close": plain_text(form.close, TITLE_CHARS),
        "private_metadata": json.dumps(ids, separators=(",", ":")),
        "blocks": blocks[:VIEW_BLOCKS],
    }


def callback_id(name: FormName) -> str:
    return f"{PREFIX}{name.value}{SUFFIX}"


def response(result: SubmissionResult, body: Payload, us: Identity) -> Mapping[str, Any]:
    """What Slack does with the form that was submitted: without anything it closes."""
    if result.errors:
        named = {_field_of(block): block for block in _blocks(body)}
        errors = {named[name]: sentence for name, sentence in result.errors.items() if name in named}
        return _errors(errors) if errors else refused(body, next(iter(result.errors.values())))
    return {"response_action": "update", "view": view(with_users(result.form, us))} if result.form else {}


def refused(body: Payload, sentence: str) -> Mapping[str, Any]:
    """*sentence* at the first field, so that the form stays open and nothing that was typed is lost."""
    return _errors(dict.fromkeys(_blocks(body)[:1], sentence))


def _errors(errors: Mapping[str, str]) -> Mapping[str, Any]:
    return {"response_action": "errors", "errors": errors} if errors else {}


def _input(field: FormField) -> View:
    block = {
        "type": "input",
        "block_id": f"{field.name}.{field.revision}",
        "label": plain_text(field.label, FIELD_LABEL_CHARS),
        "element": {"action_id": f"{PREFIX}{field.name}", **_element(field)},
        "optional": not field.required,
    }
    return {**block, "hint": plain_text(field.hint, FIELD_LABEL_CHARS)} if field.hint else block


def _element(field: FormField) -> View:
    match field.kind:
        case FieldKind.LINE | FieldKind.TEXT | FieldKind.LIST:
            return _text(field, is_multiline=field.kind is not FieldKind.LINE)
        case FieldKind.NUMBER:
            initial = {"initial_value": field.initial} if field.initial else {}
            return {"type": "number_input", "is_decimal_allowed": False, "min_value": "0", **initial}
        case FieldKind.CHOICE:
            return _choice(field)
        case FieldKind.CHECKS:
            return {"type": "checkboxes", **_several(field, RADIO_OPTIONS)}
        case FieldKind.PEOPLE:
            most = {"max_selected_items": field.most} if field.most else {}
            people = [one for one in field.initial if is_id(one)] if isinstance(field.initial, tuple) else []
            named = {"initial_users": people} if people else {}
            return {"type": "multi_users_select", **_prompt(field), **named, **most}
        case FieldKind.CHANNEL:
            return _channel(field)
        case FieldKind.TIME:
            return {"type": "datetimepicker"}
        case FieldKind.REFS:
            return {"type": "multi_static_select", **_prompt(field), **_several(field, MOST_OPTIONS)}
        case _:
            assert_never(field.kind)


def _text(field: FormField, *, is_multiline: bool) -> View:
    # A value of several lines does not fit into a field of one.
    value = str(field.initial)
    initial = {"initial_value": value} if value and size(value) <= INPUT_CHARS else {}
    prompt = _prompt(field) if field.placeholder else {}
    return {
        "type": "plain_text_input",
        "multiline": is_multiline or "\n" in value,
        "max_length": field.most or INPUT_CHARS,
        **prompt,
        **initial,
    }


def _choice(field: FormField) -> View:
    """Radio buttons where one is always chosen: a choice cannot be taken back there."""
    options = [_option(one) for one in field.options[:MOST_OPTIONS]]
    groups: list[View] = [
        {"label": plain_text(one.label, LABEL_CHARS), "options": [_option(each) for each in one.options]}
        for one in field.groups
    ]
    everything = [*options, *(each for group in groups for each in group["options"])]
    chosen = next((one for one in everything if one["value"] == field.initial), None)
    initially = {"initial_option": chosen} if chosen else {}
    if field.required and not groups and len(options) <= RADIO_OPTIONS:
        return {"type": "radio_buttons", "options": options, **initially}
    among = {"option_groups": groups} if groups else {"options": options}
    return {"type": "static_select", **_prompt(field), **among, **initially}


def _several(field: FormField, most: int) -> View:
    options = [_option(one) for one in field.options[:most]]
    chosen = [one for one in options if one["value"] in field.initial]
    return {"options": options, **({"initial_options": chosen} if chosen else {})}


def _channel(field: FormField) -> View:
    """A channel with people in it. Without one, Slack proposes where the person is."""
    proposed = {"initial_conversation": field.initial} if field.initial else {}
    return {
        "type": "conversations_select",
        **_prompt(field),
        "default_to_current_conversation": not proposed,
        **proposed,
        "filter": {"include": ["public", "private"], "exclude_bot_users": True},
    }


def _option(option: FormOption) -> View:
    about = {"description": plain_text(option.about, LABEL_CHARS)} if option.about else {}
    return {"text": plain_text(option.label, LABEL_CHARS), "value": option.value, **about}


def _prompt(field: FormField) -> View:
    return {"placeholder": plain_text(field.placeholder or "Choose", PLACEHOLDER_CHARS)}


# --- in -------------------------------------------------------------------------------------------------------------


def submission(body: Payload, us: Identity, *, at: str) -> Submission:
    shown = part(body, "view")
    name = word(shown, "callback_id").removeprefix(PREFIX).removesuffix(SUFFIX)
    try:
        ids = json.loads(word(shown, "private_metadata"))
        slug, subject = str(ids["i"]), str(ids.get("s", ""))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise Malformed("its private_metadata are not ours") from error
    is_named = bool(slug) is not (name == FormName.START)
    if name not in set(FormName) or not is_named or max(len(slug), len(subject)) > ID_CHARS:
        raise Malformed("its form is not ours")
    values: dict[str, FieldValue] = {}
    revisions: dict[str, int] = {}
    for block, elements in part(shown, "state", "values").items():
        field, revision = _field_of(block), block.rpartition(".")[2]
        entered = part(elements, f"{PREFIX}{field}") if isinstance(elements, dict) else {}
        if field and revision.isdecimal() and entered:
            values[field] = _entered(entered, us)
            revisions[field] = int(revision)
    return Submission(
        key=f"view.{needed(shown, 'id')}",
        at=at,
        person=clicker(body, us),
        name=FormName(name),
        slug=slug,
        subject=subject,
        values=values,
        revisions=revisions,
    )


def _entered(element: Payload, us: Identity) -> FieldValue:
    """Redacted before anything else is done with it."""
    if "selected_options" in element:
        chosen = element["selected_options"]
        return tuple(filter(None, map(_value, chosen))) if isinstance(chosen, list) else ()
    if "selected_users" in element:
        people = element["selected_users"]
        ids = (
            [one for one in people if isinstance(one, str) and is_id(one)] if isinstance(people, list) else ()
        )
        return tuple(map(us.people.person, ids))
    if "selected_conversation" in element:
        return known(element, "selected_conversation")
    if "selected_date_time" in element:
        seconds = element["selected_date_time"]
        return written_at(f"{seconds}.000000") if isinstance(seconds, int) else ""
    if "selected_option" in element:
        return _value(element["selected_option"])
    return us.redact(clean(word(element, "value"))[:INPUT_CHARS])


def _value(option: object) -> str:
    return word(option, "value")[:ID_CHARS] if isinstance(option, dict) else ""


def _field_of(block: str) -> str:
    return block.rpartition(".")[0]


def _blocks(body: Payload) -> list[str]:
    """The inputs of the submitted view, in their order."""
    blocks: Iterable[Any] = part(body, "view").get("blocks") or ()
    return [word(one, "block_id") for one in blocks if isinstance(one, dict) and one.get("type") == "input"]
