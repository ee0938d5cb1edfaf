"""Skyweave weaves satellite and cellular paths into one connection, and shows what that is worth."""
