"""Reading a handoff document of any style; whatever it holds, the answer is a Document."""

import codecs
import os
import re

from flowd.handoff.contract import NO_PURPOSE, PURPOSE_CHARACTERS, Document, Kind, Section, escalations_in
from flowd.handoff.contract_metadata import Metadata, first_of, metadata_of, with_source
from flowd.handoff.contract_yaml import front_matter, is_yaml, split_front_matter, yaml_sections
from flowd.handoff.markdown_items import count_boxes
from flowd.handoff.markdown_sections import headings_of, lines_of, outside_fences, sections_of
from flowd.handoff.small_file import READ_FLAGS

LARGEST_READ = 1 << 20
TITLE_CHARACTERS = 100
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_EMPTY_TITLE = re.compile(
    r"(?:session )?(?:handoff|checkpoint)[\W_]*(?:\d{4}-\d{2}-\d{2})?[\W_]*(?:auto)?[\W_]*", re.I
)
_TITLE_LEAD = re.compile(r"^(?:session )?handoff[\s:—–-]+", re.I)


def read_document(text: str) -> Document:
    """Return what *text* says, in the contract's, humanlayer's, Continuous-Claude's or a free style."""
    front, body = split_front_matter(lines_of(text))
    metadata = front_matter(front)
    if is_yaml(body):
        metadata = metadata | front_matter(body)
        return _document(text, "", metadata, yaml_sections(body), body)
    bare = outside_fences(body)
    headings = headings_of(bare)
    title = next((heading.text for heading in headings if heading.level == 1), "")
    first_section = next((heading.line for heading in headings if heading.level > 1), len(bare))
    metadata = metadata_of(bare[:first_section]) | metadata
    return _document(text, title, metadata, sections_of(body), bare)


def read_document_file(path: str | os.PathLike[str]) -> Document:
    """Return what the file at *path* says, as far as its first megabyte goes."""
    return read_document(decoded(read_bytes(path)))


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return the beginning of the file at *path*, at most a megabyte."""
    descriptor = os.open(path, READ_FLAGS)
    with os.fdopen(descriptor, "rb") as file:
        return file.read(LARGEST_READ) or b""


def decoded(data: bytes) -> str:
    """Return *data* as text; what is no text shows as replacement characters."""
    if data.startswith(_UTF16):
        return data.decode("utf-16", "replace")
    return data.decode("utf-8-sig", "replace")


def _document(
    text: str, title: str, metadata: Metadata, sections: tuple[Section, ...], bare: list[str]
) -> Document:
    said = with_source(metadata)
    ticked, boxes = count_boxes(bare)
    project = first_of(said, "cwd", "project")
    return Document(
        title=title,
        session_id=first_of(said, "session_id", "session"),
        purpose=_purpose(title, said, sections),
        trigger=first_of(said, "trigger"),
        branch=first_of(said, "branch", "git_branch"),
        commit=first_of(said, "commit", "git_commit"),
        project=project if os.path.isabs(project) else "",  # noqa: PTH117 a string is wanted
        is_auto=title.casefold().endswith("(auto)"),
        sections=sections,
        escalations=escalations_in(text),
        ticked=ticked,
        boxes=boxes,
    )


def _purpose(title: str, said: Metadata, sections: tuple[Section, ...]) -> str:
    """Return the purpose as stated, else the first thing done, else what the title says."""
    if stated := first_of(said, "purpose", "topic", "summary", "goal"):
        return " ".join(stated.split())
    if done := _first_item(sections, "done"):
        return done
    if title and not _EMPTY_TITLE.fullmatch(title[:TITLE_CHARACTERS]):
        return _TITLE_LEAD.sub("", title)
    return _first_item(sections, "context") or NO_PURPOSE


def _first_item(sections: tuple[Section, ...], kind: Kind) -> str:
    first = next((item.text for section in sections if section.kind == kind for item in section.items), "")
    return first if len(first) <= PURPOSE_CHARACTERS else first[: PURPOSE_CHARACTERS - 1] + "…"
