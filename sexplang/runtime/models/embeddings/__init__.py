"""The embeddings of texts, by the models that have them."""
