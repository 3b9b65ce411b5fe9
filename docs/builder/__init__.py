"""The builder of the documentation site: the Markdown and the code of the repository to pages."""
