"""The torch of another environment: its interpreter runs exportdiff's own code in processes of its own."""
