"""The door: admission policies that refuse pods without the fields that their pool needs."""
