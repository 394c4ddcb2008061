"""The nine data sets of the paper, and generators for its synthetic problems."""

from .generators import make_circles, make_quadrants, make_spiral, make_waveform
from .loading import NAMES, load

__all__ = ["NAMES", "load", "make_circles", "make_quadrants", "make_spiral", "make_waveform"]
