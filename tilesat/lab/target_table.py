"""The target of each shipped rule: the kind of programs in which it fires most often."""

TARGET_OF: dict[str, str] = {}
