"""The paper's experiments as functions: settings in, results out, reports from results."""
