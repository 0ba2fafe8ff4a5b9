"""Why an answer is wrong: known wrong answers first, then what any wrong answer shows of itself."""
