"""The files of the work at hand."""

from tests.support.transcript import ROOT, Transcript


def test_edited_files_are_listed_the_latest_first() -> None:
    """Relative to the project, each once."""
    session = Transcript().edit("src/cart.py").edit("src/till.py").edit("src/cart.py")
    assert session.state.files == ("src/cart.py", "src/till.py")


def test_files_written_by_the_shell_count() -> None:
    """Also from another directory."""
    session = (
        Transcript().run("cat > src/cart.py <<'EOF'\nx\nEOF").run("cd /srv/till && sed -i 's/a/b/' till.py")
    )
    assert session.state.files == ("/srv/till/till.py", "src/cart.py")


def test_a_file_removed_again_is_no_part_of_the_work() -> None:
    """By name or with its directory."""
    session = Transcript().edit("src/cart.py").edit("src/new/a.py").edit("b.py")
    session.run(f"rm {ROOT}/src/cart.py").run("rm -rf src/new")
    assert session.state.files == ("b.py",)


def test_an_edit_that_failed_is_none() -> None:
    """Unless the file was edited before."""
    session = Transcript().edit("src/cart.py")
    for path in ("src/cart.py", "src/till.py"):
        session.call("Edit", file_path=f"{ROOT}/{path}").result("String to replace not found", is_error=True)
    assert session.state.files == ("src/cart.py",)


def test_notes_of_the_client_and_loose_scratch_files_do_not_count() -> None:
    """Plans, and what lies in the temporary directory itself."""
    session = Transcript().call("Write", file_path="/home/ada/.claude/plans/calm-sea.md").result()
    session.call("Write", file_path="/tmp/probe.py").result().call(
        "Write", file_path="/tmp/clone/a.py"
    ).result()
    assert session.state.files == ("/tmp/clone/a.py",)


def test_committed_files_give_way_to_new_work_elsewhere() -> None:
    """Once it touches none of them."""
    session = Transcript().edit("src/cart.py").commit("Sort carts")
    assert session.state.files == ("src/cart.py",)
    session.edit("src/till.py")
    assert session.state.files == ("src/till.py",)


def test_committed_files_stay_while_the_work_on_them_goes_on() -> None:
    """A second look at one of them keeps them together."""
    session = Transcript().edit("src/cart.py").edit("src/till.py").commit("Sort carts").edit("src/till.py")
    assert session.state.files == ("src/till.py", "src/cart.py")


def test_a_subagents_edits_count() -> None:
    """Its files are the session's files."""
    session = Transcript()
    session.is_sidechain = True
    assert session.edit("src/cart.py").state.files == ("src/cart.py",)


def test_the_list_is_bounded() -> None:
    """The oldest edits go."""
    session = Transcript()
    for number in range(100):
        session.edit(f"src/{number}.py")
    assert len(session.state.files) == 40
    assert session.state.files[0] == "src/99.py"


def test_files_that_a_subagent_reports_count() -> None:
    """Whether its report comes back at once or as a notification."""
    session = Transcript().call("Agent", description="Sort carts", prompt="…")
    session.result(
        "Done.\n\nFiles changed:\n\n- `src/cart.py`\n- `/home/ada/shop/src/till.py:12`\n\nSee `docs/a.md`."
    )
    session.person(
        "<task-notification>\n<result>Added the tax to `src/tax.py`.</result>\n</task-notification>"
    )
    assert session.state.files == ("src/tax.py", "src/till.py", "src/cart.py")
