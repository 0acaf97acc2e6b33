"""The way of one appended line through daemon/ stays short enough to be read in one sitting."""

import sys
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from tests.support.transcript_lines import line

if TYPE_CHECKING:
    from tests.support.following import Following

ROOM = str(Path(__file__).resolve().parents[3] / "daemon")
# Five of them keep an error in one file from the others (reading/failures.py), two write the log for people.
MAX_FUNCTIONS, MAX_MODULES = 48, 17


class Walk:
    """Every function of daemon/ that is entered while it traces."""

    def __init__(self) -> None:
        self.functions: list[str] = []

    def __enter__(self) -> "Walk":
        sys.setprofile(self._trace)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    @property
    def modules(self) -> set[str]:
        return {name.split(":")[0] for name in self.functions}

    def _trace(self, frame: FrameType, event: str, _: object) -> None:
        file, name = str(Path(frame.f_code.co_filename).resolve()), frame.f_code.co_name
        if event == "call" and file.startswith(ROOM) and not name.startswith("<"):
            entry = f"{file[len(ROOM) + 1 :]}:{name}"
            if entry not in self.functions:
                self.functions.append(entry)


def test_from_the_change_to_the_commit_a_line_crosses_few_functions(
    following: "Following", project: Path
) -> None:
    following.append(line(1, cwd=str(project)))
    with following.transcript.open("ab") as file:
        file.write(line(2, cwd=str(project)))
    with Walk() as walk:
        following.queue.put(str(following.transcript))
        following.reader.step()
    assert following.records_of() == 2
    assert "reading/batch_writer.py:commit" in walk.functions
    assert len(walk.functions) <= MAX_FUNCTIONS, " ".join(walk.functions)
    assert len(walk.modules) <= MAX_MODULES, walk.modules
