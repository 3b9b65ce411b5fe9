"""Plans that a model proposed: the reading, the judgement, the bids, and the words for the
model."""
