"""What each format allows, as closed and strict pydantic types: no logic, and no knowledge of the other format."""
