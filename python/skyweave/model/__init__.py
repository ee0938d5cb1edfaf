"""What all rooms share: runs, records, drives, checked models and texts."""
