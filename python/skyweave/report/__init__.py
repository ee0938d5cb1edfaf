"""From records to metrics, grades, figures and one page that a person likes to read."""
