"""Reads official schemas, and checks the tables that `schemas.py` writes."""
