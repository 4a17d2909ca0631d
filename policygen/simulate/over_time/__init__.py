"""The parts of a timeline: each decides about one subject, and knows only the parts that it uses."""
