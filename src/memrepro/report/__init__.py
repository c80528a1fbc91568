"""Reports of what a run came to, for people: text and pictures, from the committed scores."""
