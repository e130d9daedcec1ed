"""Questions with what is known to be right about them: read from files of many forms, or made from documents."""
