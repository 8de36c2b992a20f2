"""Answers for people: HTML, Markdown and plain or coloured terminal text."""
