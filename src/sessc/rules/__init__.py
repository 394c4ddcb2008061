"""The rule base, and what belongs to the value: summary, explanation, editing, evaluation."""
