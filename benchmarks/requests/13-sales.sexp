; A table as an input.
(defatom score-lead
  (description "Say how likely somebody is to buy, from 0 to 100")
  (params (lead object doc: "{name company employees}."))
  (instructions "{{lead}}"))
(defatom write-mail
  (description "Write a first mail to somebody")
  (params (lead object doc: "{name company employees}.")
          (product string)
          (tone string default: "friendly"))
  (instructions "{{lead}} {{product}} {{tone}}"))
(defatom enrich-lead
  (description "Find out what is missing of somebody's data")
  (params (name string) (company string))
  (instructions "{{name}} {{company}}"))
(defatom seller
  (params lead)
  (instructions "Is it worth to write to this person at all? Have it judged first. {{lead}}")
  (allowed_tools spawn_subtask))
(seller {name: "Ida Berg" company: "Nordlys" employees: 40})
