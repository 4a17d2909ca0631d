"""What rule pages call bad does harm on real servers, and what they call good does not."""
