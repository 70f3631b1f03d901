"""Program text: its canonical form, and its length."""
