"""A hunt for what breaks: thousands of hostile tables, damaged files and interrupted commands, drawn by seeds.

    python -m hunt                          # 100,000 cases, resuming where the last run stopped
    python -m hunt --cases 2000 --seed 7    # others, and fewer
    python -m hunt --replay tables 7 1234   # one case again, with its traceback

The law is the same for all: either it works, with finite answers, or it is refused with one sentence.
"""
