"""What corresponds to what, one concept a file, the two directions of each fact side by side.

The functions here take documents that are already known to be valid and to hold nothing that cannot cross; they never
refuse, never parse text, and never change what they are given.
"""
