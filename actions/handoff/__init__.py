"""Use-cases around handoff documents: create, resume, begin an epic, escalate, acknowledge, list, migrate."""
