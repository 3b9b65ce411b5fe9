; What a researcher may have looked up.
(defatom search-papers
  (description "Search for scientific papers")
  (params (query string) (since integer required: false doc: "A year.") (most integer default: 10))
  (instructions "{{query}} {{since}} {{most}}"))
(defatom search-news
  (description "Search in newspapers")
  (params (query string) (days integer doc: "How many days back."))
  (instructions "{{query}} {{days}}"))
(defatom search-books
  (description "Search in the catalogue of a library")
  (params (title string required: false) (author string required: false))
  (instructions "{{title}} {{author}}"))
(defatom _rank
  (description "Rank what was found")
  (params (found list))
  (instructions "{{found}}"))
