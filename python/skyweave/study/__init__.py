"""From a study file to records: plan, expansion, parallel and resumable runs."""
