"""What each stage reads, writes and needs, and its file work."""
