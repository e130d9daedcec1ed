"""Questions with their gold answers, read from files or made from documents."""
