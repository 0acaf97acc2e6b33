"""One worker per sink: follows the journal, retries, quarantines."""
