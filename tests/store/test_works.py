"""Works in core.db: what the reader's cache of them depends on."""

from flowd.model.summary import Summary
from flowd.store.database import Database
from flowd.store.summaries import Caps, ModelCall, Settled, Summaries
from flowd.store.works import Works


def test_the_users_version_changes_when_a_model_is_agreed_to_and_when_it_answers(database: Database) -> None:
    works, summaries = Works(database), Summaries(database)
    versions = [works.user_version()]
    summaries.set_consent("engine")
    versions.append(works.user_version())
    caps = Caps(10**6, 1.0, 10**6, 1.0)
    for digest in ("one", "two"):
        number = summaries.reserve(ModelCall(digest, "w", "s", "idle", 1, 10, 0.0), caps, 60.0).id
        summaries.settle(number, Settled("answered", 10, 0.0, "haiku", "", Summary(goal=digest)))
        versions.append(works.user_version())
    summaries.set_consent("")
    versions.append(works.user_version())
    assert len(set(versions)) == len(versions)
