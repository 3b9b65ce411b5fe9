; A journey, booked step by step.
(defatom find-flights
  (description "Find flights between two airports")
  (params (from string doc: "Three letters, as FCO.")
          (to string doc: "Three letters.")
          (day string doc: "YYYY-MM-DD.")
          (seats integer default: 1))
  (instructions "{{from}} to {{to}} on {{day}}, {{seats}} seats"))
(defatom find-trains
  (description "Find trains between two cities")
  (params (from string) (to string) (day string doc: "YYYY-MM-DD."))
  (instructions "Train {{from}} {{to}} {{day}}"))
(defatom find-hotels
  (description "Find hotels in a city")
  (params (city string) (nights integer) (stars integer required: false))
  (instructions "{{nights}} nights in {{city}}, {{stars}}"))
(defatom travel-agent
  (system "You plan journeys. Search for one thing now; you will be asked for the rest later.")
  (params wish)
  (instructions "{{wish}}")
  (allowed_tools spawn_subtask))
(travel-agent
  "We have the tickets to Lisbon already. We now need somewhere to sleep there for 3 nights, four stars or better.")
