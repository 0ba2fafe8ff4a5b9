"""What an LMS gives and takes: archives of submissions, and its own table, read for who is who and filled with scores."""
