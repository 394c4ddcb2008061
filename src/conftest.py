"""Which modules have no examples to run where what they import is not installed."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("torch") and find_spec("triton") else ["sessc/fused.py"]
