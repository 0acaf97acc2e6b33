"""The words that may follow each verb, read off the argument parsers."""

import argparse
import importlib
from collections.abc import Iterator, Mapping
from typing import NamedTuple


class Word(NamedTuple):
    """A verb, an option or a fixed value, and what its help says."""

    text: str
    about: str = ""


class Verb(NamedTuple):
    """A command or verb with what may follow it."""

    word: Word
    options: tuple[Word, ...]
    values: tuple[Word, ...]
    verbs: tuple["Verb", ...]

    def walk(self, before: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], "Verb"]]:
        """Yield every verb below and including this one, with the words that lead to it."""
        path = (*before, self.word.text)
        yield path, self
        for verb in self.verbs:
            yield from verb.walk(path)


def words_of(prog: str, verbs: Mapping[str, str]) -> Verb:
    """Return the words of the command *prog*, whose verbs live in the modules *verbs* names."""
    parser = argparse.ArgumentParser(prog=prog)
    parser.add_argument("--version", action="version", help="the version")
    subparsers = parser.add_subparsers()
    for module in verbs.values():
        importlib.import_module(module).add_parser(subparsers)
    return _verb(Word(prog), parser)


def _verb(word: Word, parser: argparse.ArgumentParser) -> Verb:
    options: list[Word] = []
    values: list[Word] = []
    verbs: list[Verb] = []
    for action in parser._actions:  # noqa: SLF001 argparse offers no other way to see them
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 same
            verbs += _verbs(action)
        else:
            options += [Word(option, action.help or "") for option in action.option_strings]
            values += [Word(str(choice)) for choice in action.choices or ()]
    return Verb(word, tuple(options), tuple(values), tuple(verbs))


def _verbs(action: "argparse._SubParsersAction[argparse.ArgumentParser]") -> list[Verb]:
    about = {choice.dest: choice.help or "" for choice in action._choices_actions}  # noqa: SLF001 same
    return [_verb(Word(name, about.get(name, "")), parser) for name, parser in action.choices.items()]
