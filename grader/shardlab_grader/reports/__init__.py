"""What a class's verdicts say: tables, figures and pages."""
