"""The bad examples of rule pages do harm on real servers, and the good ones do not."""
