"""Runs gpulint over many repositories: a plan, a row file for each repository, and the tables of a date."""

from .scan import scan

__all__ = ["scan"]
__version__ = "0.2.0"
