"""Finds the names that a declaration in preprocessed headers declares, and the parameters of its functions.

An ambiguous declaration is `Unknown`; the caller keeps it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from warpwright.cpp.tokens import Code, Kind

KEYS = frozenset({"struct", "class", "union"})
_SPECIFIERS = frozenset(
    {
        *(
            "__extension__",
            "inline",
            "__inline__",
            "__inline",
            "constexpr",
            "consteval",
            "constinit",
            "static",
            "extern",
        ),
        *("friend", "typename", "const", "volatile", "thread_local", "explicit", "register"),
    }
)
_TYPE_OF = frozenset({"decltype", "__decltype", "typeof", "__typeof__", "__typeof"})
_CALLED = _TYPE_OF | {"__attribute__", "__attribute", "alignas", "noexcept", "explicit", "asm", "__asm__", "throw"}
_NO_NAMES = frozenset(
    {"void", "int", "char", "long", "float", "double", "bool", "unsigned", "auto", "return", "operator"}
)
_NO_NAMESPACES = frozenset({"namespace", "inline", "__extension__", "extern"}) | _CALLED
AFTER_CLASS_NAME = ("{", ":", "final", ";")


def literal(suffix: str) -> str:
    """The key of a literal operator; it is not a plain word, because many variables have names as short as suffixes."""
    return f'""{suffix}'


class Dropped(Exception):
    """A declaration without effect for a device compiler: assertions, explicit instantiations."""


class Unknown(Exception):
    """A declaration that is not understood."""


@dataclass(frozen=True, slots=True)
class Meaning:
    kind: str
    names: list[str]
    takes: frozenset[str] = frozenset()
    brought_from: tuple[str, ...] = ()


class Reader:
    """A text of declarations, by position."""

    def __init__(self, code: Code) -> None:
        self.code = code
        self.texts = [code.tokens[index].text for index in code.where]
        opened = [i for i, word in enumerate(self.texts) if word == "namespace"]
        self._namespaces = {self.text(i + 1) for i in opened}
        # By name, because an inline namespace may be reopened without the word.
        self._inline = {self.text(i + 1) for i in opened if self.text(i - 1) == "inline"}

    def text(self, position: int) -> str:
        return self.texts[position] if 0 <= position < len(self.texts) else ""

    def is_string(self, position: int) -> bool:
        return position < len(self.texts) and self.code.tokens[self.code.where[position]].kind is Kind.STRING

    def past_bracket(self, position: int) -> int:
        """The position after the bracket that closes this one, or the end."""
        return self.code.partner.get(position, len(self.texts) - 1) + 1

    def past_arguments(self, position: int) -> int:
        past = self.code.past_angles(position)
        if past is None:
            raise Unknown
        return past

    def head(self, here: int) -> int:
        """The position after template parameters, attributes and specifiers."""
        while True:
            text = self.text(here)
            if text == "template" and self.text(here + 1) == "<":
                here = self.past_arguments(here + 1)
                if self.text(here) == "requires":
                    here = self._past_constraint(here + 1)
            elif text in _SPECIFIERS or self.is_string(here):
                here += 1
            elif text in _CALLED - _TYPE_OF and self.text(here + 1) == "(":
                here = self.past_bracket(here + 1)
            elif text == "[" and self.text(here + 1) == "[":
                here = self.past_bracket(here)
            else:
                return here

    def _past_constraint(self, here: int) -> int:
        while True:
            if self.text(here) == "requires":
                here += 1
                here = self.past_bracket(here) if self.text(here) == "(" else here
                here = self.past_bracket(here)
            elif self.text(here) == "(":
                here = self.past_bracket(here)
            else:
                here = self._past_name(here)
            if self.text(here) not in ("&&", "||"):
                return here
            here += 1

    def _past_name(self, here: int) -> int:
        while self.text(here) in ("::", "!") or self.code.is_word(here):
            here += 1
            if self.text(here) == "<":
                here = self.past_arguments(here)
            if self.text(here) != "::" and self.text(here - 1) not in ("::", "!"):
                break
        return here

    def template_parameters(self, here: int) -> set[str]:
        found = set()
        while self.text(here) == "template" and self.text(here + 1) == "<":
            past = self.past_arguments(here + 1)
            found |= {self.text(i) for i in range(here + 2, past) if self.text(i - 1) in ("typename", "class", "...")}
            here = past
        return found

    def meaning(self, start: int, end: int) -> Meaning:
        here = self.head(start)
        match self.text(here):
            case "static_assert" | "_Static_assert" | "template":
                raise Dropped
            case "using":
                return self._using(here, end)
            case "namespace" | "concept":
                return Meaning("other", [self.text(here + 1)])
            case "typedef":
                return self._typedef(self.head(here + 1), end)
            case "enum":
                return Meaning("class", self._enumeration(here, end))
            case key if key in KEYS:
                name, after = self.class_name(here)
                if after in AFTER_CLASS_NAME:
                    names = [*([name] if name else []), *self._after_body(here, end)]
                    return Meaning("class", names, self._specialised(here, end))
        return self._function_or_variable(here, end)

    def _using(self, here: int, end: int) -> Meaning:
        if self.text(here + 1) == "namespace" or "operator" in self.texts[here:end]:
            raise Unknown
        if self.text(here + 2) in ("=", "[", *_CALLED):
            return Meaning("alias", [self.text(here + 1)])
        if "," in self.texts[here:end]:
            raise Unknown
        top = ("",) if self.text(here + 1) == "::" else ()
        return Meaning("using", [self.text(end - 2)], brought_from=(*top, *self.namespaces(here + 1, end - 2)))

    def namespaces(self, here: int, end: int) -> tuple[str, ...]:
        """The namespaces named here, outermost first, without inline ones, whose names are found in the enclosing
        one."""
        found = []
        while here < end:
            text = self.text(here)
            if self.code.is_word(here) and text not in _NO_NAMESPACES and text not in self._inline:
                found.append(text)
            here = self.past_bracket(here) if text in ("(", "[") else here + 1
        return tuple(found)

    def class_name(self, here: int) -> tuple[str | None, str]:
        """The name of the class whose keyword is here, and the position after it."""
        name, here = None, here + 1
        while True:
            text = self.text(here)
            if text in _CALLED and self.text(here + 1) == "(":
                here = self.past_bracket(here + 1)
            elif text == "[":
                here = self.past_bracket(here)
            elif text == "::":
                here += 1
            elif self.code.is_word(here) and text != "final" and (name is None or self.text(here - 1) == "::"):
                name, here = text, here + 1
                here = self.past_arguments(here) if self.text(here) == "<" else here
            else:
                return name, text

    def _specialised(self, here: int, end: int) -> frozenset[str]:
        """The words in the arguments of a class template specialisation."""
        while here < end and self.text(here) not in ("{", ":", ";"):
            if self.text(here) == "<":
                return frozenset(self._words(here, self.past_arguments(here)))
            here = self.past_bracket(here) if self.text(here) == "(" else here + 1
        return frozenset()

    def _words(self, begin: int, end: int) -> Iterator[str]:
        return (self.text(i) for i in range(begin, end) if self.code.is_word(i))

    def _body(self, here: int, end: int) -> int:
        while here < end and self.text(here) != "{":
            here = self.past_bracket(here) if self.text(here) in ("(", "[") else here + 1
        return here

    def _after_body(self, here: int, end: int) -> list[str]:
        """The declarators after a class: `struct {…} a, *b;`."""
        body = self._body(here, end)
        return list(self._words(self.past_bracket(body), end)) if body < end else []

    def _enumeration(self, here: int, end: int) -> list[str]:
        body = self._body(here, end)
        names = [word for word in self._words(here + 1, body) if word not in ("class", "struct")]
        if body < end:
            inside = range(body + 1, self.past_bracket(body))
            names += [self.text(i) for i in inside if self.code.is_word(i) and self.text(i - 1) in ("{", ",")]
            names += self._after_body(here, end)
        return names

    def _typedef(self, here: int, end: int) -> Meaning:
        if self.text(here) == "enum":
            return Meaning("class", self._enumeration(here, end))
        if self.text(here) in KEYS:
            name, after = self.class_name(here)
            if after in ("{", ":", "final"):
                return Meaning("class", [*([name] if name else []), *self._after_body(here, end)])
        if "," in self.texts[here:end] and "<" not in self.texts[here:end] and "(" not in self.texts[here:end]:
            raise Unknown
        return Meaning("alias", self._declarator(end - 2))

    def _declarator(self, last: int) -> list[str]:
        """The name in a declarator that ends here: `name`, `name[8]`, `(*name)(int)`, `name __attribute__((…))`."""
        while True:
            opening = self.code.partner.get(last, 0)
            if self.text(last) == "]":
                last = opening - 1
            elif self.text(last) == ")" and self.text(opening - 1) in _CALLED:
                last = opening - 2
            elif self.text(last) == ")" and self.text(opening - 1) == ")":
                return list(self._words(self.code.partner.get(opening - 1, opening), opening))
            elif self.text(last) == ")":
                last = opening - 1
            elif self.code.is_word(last):
                return [self.text(last)]
            else:
                raise Unknown

    def _function_or_variable(self, here: int, end: int) -> Meaning:
        names: list[str] = []
        name = None
        while here < end:
            text = self.text(here)
            if text in _CALLED and self.text(here + 1) == "(":
                here = self.past_bracket(here + 1)
            elif text == "operator":
                return self._operator(here, end)
            elif text == "<":
                here = self.past_arguments(here)
            elif text == "(":
                if name is None or name in _NO_NAMES or self.text(here + 1) in ("*", "&"):
                    raise Unknown
                owner = self._owner(here - 1)
                return Meaning("other", [owner or name], frozenset() if owner else self._taken(here))
            elif text in ("=", ";", "{", ",", "[") and self.text(here + 1) != "[":
                names += [self._owner(here - 1) or name] if name else []
                here = self._past_initialiser(here, end)
            else:
                name = text if self.code.is_word(here) else name
                here = self.past_bracket(here) if text == "[" else here + 1
        if not names:
            raise Unknown
        return Meaning("other", names)

    def _past_initialiser(self, here: int, end: int) -> int:
        """The position after the next comma, which another variable may follow."""
        while here < end and self.text(here) != ",":
            past = self.code.past_angles(here) if self.text(here) == "<" else None
            here = past or (self.past_bracket(here) if self.text(here) in ("(", "[", "{") else here + 1)
        return here + 1

    def _operator(self, here: int, end: int) -> Meaning:
        if self.is_string(here + 1):
            return Meaning("other", [literal(self.text(here + 2))])
        if owner := self._owner(here):
            return Meaning("other", [owner])
        parameters = here + 3 if self.text(here + 1) == "(" else here + 1
        while parameters < end and self.text(parameters) != "(":
            parameters += 1
        return Meaning("operator", [], self._taken(parameters))

    def _owner(self, last: int) -> str | None:
        """The class of a member defined outside of its class; `last` ends the member's name."""
        here = self._before_angles(last)
        here = here - 1 if self.text(here - 1) == "~" else here
        if self.text(here - 1) != "::":
            return None
        owner = self.text(self._before_angles(here - 2))
        return owner if owner.isidentifier() and owner not in self._namespaces else None

    def _before_angles(self, last: int) -> int:
        opening = self.code.before_angles(last) if self.text(last) == ">" else None
        return last if opening is None else opening - 1

    def _taken(self, parameters: int) -> frozenset[str]:
        """The words in the types of parameters that need a value: no pointers, packs or parameters with defaults."""
        taken: set[str] = set()
        part: set[str] = set()
        here, close, is_free = parameters + 1, self.past_bracket(parameters) - 1, False
        while here <= close:
            text = self.text(here)
            past = self.code.past_angles(here) if text == "<" else None
            if past is not None:
                part |= set(self._words(here, past))
            elif text == "," or here == close:
                taken |= set() if is_free else part
                part, is_free = set(), False
            elif text in ("*", "=", "..."):
                is_free = True
            elif self.code.is_word(here):
                part.add(text)
            here = past or (self.past_bracket(here) if text in ("(", "[", "{") else here + 1)
        return frozenset(taken)
