; Forty tasks, in one line each.
(defatom open-ticket
  (description "Open a ticket for a new problem")
  (params (title string) (text string))
  (instructions "{{title}} {{text}}"))
(defatom close-ticket
  (description "Close a ticket that is solved")
  (params (ticket integer))
  (instructions "{{ticket}}"))
(defatom reopen-ticket
  (description "Open a closed ticket again")
  (params (ticket integer) (reason string))
  (instructions "{{ticket}} {{reason}}"))
(defatom assign-ticket
  (description "Give a ticket to somebody")
  (params (ticket integer) (person string))
  (instructions "{{ticket}} {{person}}"))
(defatom merge-tickets
  (description "Make one ticket of two that say the same")
  (params (keep integer) (drop integer))
  (instructions "{{keep}} {{drop}}"))
(defatom tag-ticket
  (description "Put words on a ticket")
  (params (ticket integer) (tags list))
  (instructions "{{ticket}} {{tags}}"))
(defatom comment-ticket
  (description "Write below a ticket, for colleagues")
  (params (ticket integer) (text string))
  (instructions "{{ticket}} {{text}}"))
(defatom answer-ticket
  (description "Write to the customer of a ticket")
  (params (ticket integer) (text string))
  (instructions "{{ticket}} {{text}}"))
(defatom escalate-ticket
  (description "Hand a ticket to the second line")
  (params (ticket integer) (reason string))
  (instructions "{{ticket}} {{reason}}"))
(defatom rate-ticket
  (description "Say how urgent a ticket is")
  (params (ticket integer) (urgency integer))
  (instructions "{{ticket}} {{urgency}}"))
(defatom find-tickets
  (description "Search in tickets")
  (params (query string) (most integer default: 10))
  (instructions "{{query}} {{most}}"))
(defatom read-ticket
  (description "Read all of a ticket")
  (params (ticket integer))
  (instructions "{{ticket}}"))
(defatom watch-ticket
  (description "Tell somebody of each change of a ticket")
  (params (ticket integer) (person string))
  (instructions "{{ticket}} {{person}}"))
(defatom link-tickets
  (description "Note that two tickets have to do with each other")
  (params (one integer) (other integer))
  (instructions "{{one}} {{other}}"))
(defatom split-ticket
  (description "Make two tickets of one")
  (params (ticket integer) (titles list))
  (instructions "{{ticket}} {{titles}}"))
(defatom export-tickets
  (description "Write tickets to a file")
  (params (query string) (path string))
  (instructions "{{query}} {{path}}"))
(defatom count-tickets
  (description "Count tickets")
  (params (query string))
  (instructions "{{query}}"))
(defatom add-customer
  (description "Note a new customer")
  (params (name string) (email string))
  (instructions "{{name}} {{email}}"))
(defatom find-customer
  (description "Search for a customer")
  (params (name string))
  (instructions "{{name}}"))
(defatom merge-customers
  (description "Make one customer of two that are the same person")
  (params (keep string) (drop string))
  (instructions "{{keep}} {{drop}}"))
(defatom block-customer
  (description "Take no more mail of a customer")
  (params (email string) (reason string))
  (instructions "{{email}} {{reason}}"))
(defatom thank-customer
  (description "Thank a customer")
  (params (email string))
  (instructions "{{email}}"))
(defatom survey-customer
  (description "Ask a customer how it was")
  (params (email string) (questions list))
  (instructions "{{email}} {{questions}}"))
(defatom write-article
  (description "Write an article for the help pages")
  (params (title string) (text string))
  (instructions "{{title}} {{text}}"))
(defatom update-article
  (description "Change an article of the help pages")
  (params (article integer) (text string))
  (instructions "{{article}} {{text}}"))
(defatom find-article
  (description "Search in the help pages")
  (params (query string))
  (instructions "{{query}}"))
(defatom retire-article
  (description "Take an article off the help pages")
  (params (article integer))
  (instructions "{{article}}"))
(defatom report-week
  (description "Report on the week")
  (params (week integer))
  (instructions "{{week}}"))
(defatom report-month
  (description "Report on the month")
  (params (month integer) (year integer))
  (instructions "{{month}} {{year}}"))
(defatom forecast-load
  (description "Say how many tickets come")
  (params (days integer))
  (instructions "{{days}}"))
(defatom plan-shifts
  (description "Say who works when")
  (params (week integer) (people list))
  (instructions "{{week}} {{people}}"))
(defatom swap-shift
  (description "Let two people swap their shifts")
  (params (one string) (other string) (day string))
  (instructions "{{one}} {{other}} {{day}}"))
(defatom note-holiday
  (description "Note that somebody is away")
  (params (person string) (days list))
  (instructions "{{person}} {{days}}"))
(defatom train-agent
  (description "Teach a new colleague")
  (params (person string) (topic string))
  (instructions "{{person}} {{topic}}"))
(defatom review-agent
  (description "Look at how a colleague answers")
  (params (person string))
  (instructions "{{person}}"))
(defatom check-spelling
  (description "Check the spelling of an answer")
  (params (text string))
  (instructions "{{text}}"))
(defatom check-tone
  (description "Check whether an answer is friendly")
  (params (text string))
  (instructions "{{text}}"))
(defatom translate-answer
  (description "Translate an answer")
  (params (text string) (into string))
  (instructions "{{text}} {{into}}"))
(defatom shorten-answer
  (description "Make an answer shorter")
  (params (text string) (words integer default: 80))
  (instructions "{{text}} {{words}}"))
(defatom detect-language
  (description "Say in which language a text is")
  (params (text string))
  (instructions "{{text}}"))
(defatom first-line
  (system "You are the first line of a help desk. Do the one next step.")
  (params mail)
  (instructions "{{mail}}")
  (allowed_tools spawn_subtask))
(first-line
  "Ticket 412 and ticket 398 are the same complaint by the same person. 398 is the older one and has all the notes: make them one.")
