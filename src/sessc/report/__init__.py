"""Rule bases turned into something else: each module has one function from a RuleBase to text, a page, a file."""
