"""Rule models: the recipe from rows to rules, the estimators, and the search for good settings."""
