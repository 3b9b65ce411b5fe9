; Forty tasks with so many words that what is said of their inputs has no room.
(defatom detect-language
  (description
    "Say in which language a text is, and nothing else; whoever does it has read the rules of the house and keeps to them, tells the desk when it is done.")
  (params (text string
            doc: "Exactly as it stands in the system, in the letters that it has there."))
  (instructions "{{text}}"))
(defatom shorten-answer
  (description
    "Make an answer shorter, and nothing else; whoever does it has read the rules of the house and keeps to them, tells the desk when it is done.")
  (params (text string doc: "Exactly as it stands in the system, in the letters that it has there.")
          (words integer default: 80))
  (instructions "{{text}} {{words}}"))
(defatom translate-answer
  (description
    "Translate an answer, and nothing else; whoever does it has read the rules of the house and keeps to them, tells the desk when it is done.")
  (params (text string doc: "Exactly as it stands in the system, in the letters that it has there.")
          (into string
            doc: "Exactly as it stands in the system, in the letters that it has there."))
  (instructions "{{text}} {{into}}"))
(defatom check-tone
  (description
    "Check whether an answer is friendly, and nothing else; whoever does it has read the rules of the house and keeps to them, tells the desk when it is done.")
  (params (text string
            doc: "Exactly as it stands in the system, in the letters that it has there."))
  (instructions "{{text}}"))
(defatom check-spelling
  (description
    "Check the spelling of an answer, and nothing else; whoever does it has read the rules of the house and keeps to them, tells the desk when it is done.")
  (params (text string
            doc: "Exactly as it stands in the system, in the letters that it has there."))
  (instructions "{{text}}"))
(defatom review-agent
  (description
    "Look at how a colleague answers, and nothing else; whoever does it has read the rules of the house and keeps to them, tells the desk when it is done.")
  (params (person string
            doc: "Exactly as it stands in the system, in the letters that it has there."))
  (instructions "{{person}}"))
(defatom train-agent
  (description
    "Teach a new colleague, and nothing else; whoever does it has read the rules of the house and keeps to them, tells the desk when it is done.")
  (params (person string
            doc: "Exactly as it stands in the system, in the letters that it has there.")
          (topic string
            doc: "Exactly as it stands in the system, in the letters that it has there."))
  (instructions "{{person}} {{topic}}"))
(defatom note-holiday
  (description
    "Note that somebody is away, and nothing else; whoever does it has read the rules of the house and keeps to them, tells the desk when it is done.")
  (params (person string
            doc: "Exactly as it stands in the system, in the letters that it has there.")
          (days list))
  (instructions "{{person}} {{days}}"))
(defatom swap-shift
  (description
    "Let two people swap their shifts, and nothing else; whoever does it has read the rules of the house and keeps to them, tells the desk when it is done.")
  (params (one string doc: "Exactly as it stands in the system, in the letters that it has there.")
          (other string
            doc: "Exactly as it stands in the system, in the letters that it has there.")
          (day string doc: "Exactly as it stands in the system, in the letters that it has there."))
  (instructions "{{one}} {{other}} {{day}}"))
(defatom plan-shifts
  (description
    "Say who works when, and nothing else; whoever does it has read the rules of the house and keeps to them, tells the desk when it is done.")
  (params (week integer doc: "The number that the system gives it, from 1 on.") (people list))
  (instructions "{{week}} {{people}}"))
(defatom forecast-load
  (description
    "Say how many tickets come, and nothing else; whoever does it has read the rules of the house and keeps to them, tells the desk when it is done.")
  (params (days integer doc: "The number that the system gives it, from 1 on."))
  (instructions "{{days}}"))
(defatom report-month
  (description
    "Report on the month, and nothing else; whoever does it has read the rules of the house and keeps to them, tells the desk when it is done.")
  (params (month integer doc: "The number that the system gives it, from 1 on.")
          (year integer doc: "The number that the system gives it, from 1 on."))
  (instructions "{{month}} {{year}}"))
(defatom report-week
  (description
    "Report on the week, and nothing else; whoever does it has read the rules of the house and keeps to them, tells the desk when it is done.")
  (params (week integer doc: "The number that the system gives it, from 1 on."))
  (instructions "{{week}}"))
(defatom retire-article
  (description
    "Take an article off the help pages, and nothing else; whoever does it has read the rules of the house and keeps to them, tells the desk when it is done.")
  (params (article integer doc: "The number that the system gives it, from 1 on."))
  (instructions "{{article}}"))
(defatom find-article
  (description
    "Search in the help pages, and nothing else; whoever does it has read the rules of the house and keeps to them, tells the desk when it is done.")
  (params (query string
            doc: "Exactly as it stands in the system, in the letters that it has there."))
  (instructions "{{query}}"))
(defatom update-article
  (description
    "Change an article of the help pages, and nothing else; whoever does it has read the rules of the house and keeps to them, tells the desk when it is done.")
  (params (article integer doc: "The number that the system gives it, from 1 on.")
          (text string
            doc: "Exactly as it stands in the system, in the letters that it has there."))
  (instructions "{{article}} {{text}}"))
(defatom write-article
  (description
    "Write an article for the help pages, and nothing else; whoever does it has read the rules of the house and keeps to them, tells the desk when it is done.")
  (params (title string
            doc: "Exactly as it stands in the system, in the letters that it has there.")
          (text string
            doc: "Exactly as it stands in the system, in the letters that it has there."))
  (instructions "{{title}} {{text}}"))
(defatom survey-customer
  (description
    "Ask a customer how it was, and nothing else; whoever does it has read the rules of the house and keeps to them, tells the desk when it is done.")
  (params (email string
            doc: "Exactly as it stands in the system, in the letters that it has there.")
          (questions list))
  (instructions "{{email}} {{questions}}"))
(defatom thank-customer
  (description
    "Thank a customer, and nothing else; whoever does it has read the rules of the house and keeps to them, tells the desk when it is done.")
  (params (email string
            doc: "Exactly as it stands in the system, in the letters that it has there."))
  (instructions "{{email}}"))
(defatom block-customer
  (description
    "Take no more mail of a customer, and nothing else; whoever does it has read the rules of the house and keeps to them, tells the desk when it is done.")
  (params (email string
            doc: "Exactly as it stands in the system, in the letters that it has there.")
          (reason string
            doc: "Exactly as it stands in the system, in the letters that it has there."))
  (instructions "{{email}} {{reason}}"))
(defatom merge-customers
  (description
    "Make one customer of two that are the same person, and nothing else; whoever does it has read the rules of the house and keeps to them, tells the desk when it is done.")
  (params (keep string doc: "Exactly as it stands in the system, in the letters that it has there.")
          (drop string
            doc: "Exactly as it stands in the system, in the letters that it has there."))
  (instructions "{{keep}} {{drop}}"))
(defatom find-customer
  (description
    "Search for a customer, and nothing else; whoever does it has read the rules of the house and keeps to them, tells the desk when it is done.")
  (params (name string
            doc: "Exactly as it stands in the system, in the letters that it has there."))
  (instructions "{{name}}"))
(defatom add-customer
  (description
    "Note a new customer, and nothing else; whoever does it has read the rules of the house and keeps to them, tells the desk when it is done.")
  (params (name string doc: "Exactly as it stands in the system, in the letters that it has there.")
          (email string
            doc: "Exactly as it stands in the system, in the letters that it has there."))
  (instructions "{{name}} {{email}}"))
(defatom count-tickets
  (description
    "Count tickets, and nothing else; whoever does it has read the rules of the house and keeps to them, tells the desk when it is done.")
  (params (query string
            doc: "Exactly as it stands in the system, in the letters that it has there."))
  (instructions "{{query}}"))
(defatom export-tickets
  (description
    "Write tickets to a file, and nothing else; whoever does it has read the rules of the house and keeps to them, tells the desk when it is done.")
  (params (query string
            doc: "Exactly as it stands in the system, in the letters that it has there.")
          (path string
            doc: "Exactly as it stands in the system, in the letters that it has there."))
  (instructions "{{query}} {{path}}"))
(defatom split-ticket
  (description
    "Make two tickets of one, and nothing else; whoever does it has read the rules of the house and keeps to them, tells the desk when it is done.")
  (params (ticket integer doc: "The number that the system gives it, from 1 on.") (titles list))
  (instructions "{{ticket}} {{titles}}"))
(defatom link-tickets
  (description
    "Note that two tickets have to do with each other, and nothing else; whoever does it has read the rules of the house and keeps to them, tells the desk when it is done.")
  (params (one integer doc: "The number that the system gives it, from 1 on.")
          (other integer doc: "The number that the system gives it, from 1 on."))
  (instructions "{{one}} {{other}}"))
(defatom watch-ticket
  (description
    "Tell somebody of each change of a ticket, and nothing else; whoever does it has read the rules of the house and keeps to them, tells the desk when it is done.")
  (params (ticket integer doc: "The number that the system gives it, from 1 on.")
          (person string
            doc: "Exactly as it stands in the system, in the letters that it has there."))
  (instructions "{{ticket}} {{person}}"))
(defatom read-ticket
  (description
    "Read all of a ticket, and nothing else; whoever does it has read the rules of the house and keeps to them, tells the desk when it is done.")
  (params (ticket integer doc: "The number that the system gives it, from 1 on."))
  (instructions "{{ticket}}"))
(defatom find-tickets
  (description
    "Search in tickets, and nothing else; whoever does it has read the rules of the house and keeps to them, tells the desk when it is done.")
  (params (query string
            doc: "Exactly as it stands in the system, in the letters that it has there.")
          (most integer default: 10))
  (instructions "{{query}} {{most}}"))
(defatom rate-ticket
  (description
    "Say how urgent a ticket is, and nothing else; whoever does it has read the rules of the house and keeps to them, tells the desk when it is done.")
  (params (ticket integer doc: "The number that the system gives it, from 1 on.")
          (urgency integer doc: "The number that the system gives it, from 1 on."))
  (instructions "{{ticket}} {{urgency}}"))
(defatom escalate-ticket
  (description
    "Hand a ticket to the second line, and nothing else; whoever does it has read the rules of the house and keeps to them, tells the desk when it is done.")
  (params (ticket integer doc: "The number that the system gives it, from 1 on.")
          (reason string
            doc: "Exactly as it stands in the system, in the letters that it has there."))
  (instructions "{{ticket}} {{reason}}"))
(defatom answer-ticket
  (description
    "Write to the customer of a ticket, and nothing else; whoever does it has read the rules of the house and keeps to them, tells the desk when it is done.")
  (params (ticket integer doc: "The number that the system gives it, from 1 on.")
          (text string
            doc: "Exactly as it stands in the system, in the letters that it has there."))
  (instructions "{{ticket}} {{text}}"))
(defatom comment-ticket
  (description
    "Write below a ticket, for colleagues, and nothing else; whoever does it has read the rules of the house and keeps to them, tells the desk when it is done.")
  (params (ticket integer doc: "The number that the system gives it, from 1 on.")
          (text string
            doc: "Exactly as it stands in the system, in the letters that it has there."))
  (instructions "{{ticket}} {{text}}"))
(defatom tag-ticket
  (description
    "Put words on a ticket, and nothing else; whoever does it has read the rules of the house and keeps to them, tells the desk when it is done.")
  (params (ticket integer doc: "The number that the system gives it, from 1 on.") (tags list))
  (instructions "{{ticket}} {{tags}}"))
(defatom merge-tickets
  (description
    "Make one ticket of two that say the same, and nothing else; whoever does it has read the rules of the house and keeps to them, tells the desk when it is done.")
  (params (keep integer doc: "The number that the system gives it, from 1 on.")
          (drop integer doc: "The number that the system gives it, from 1 on."))
  (instructions "{{keep}} {{drop}}"))
(defatom assign-ticket
  (description
    "Give a ticket to somebody, and nothing else; whoever does it has read the rules of the house and keeps to them, tells the desk when it is done.")
  (params (ticket integer doc: "The number that the system gives it, from 1 on.")
          (person string
            doc: "Exactly as it stands in the system, in the letters that it has there."))
  (instructions "{{ticket}} {{person}}"))
(defatom reopen-ticket
  (description
    "Open a closed ticket again, and nothing else; whoever does it has read the rules of the house and keeps to them, tells the desk when it is done.")
  (params (ticket integer doc: "The number that the system gives it, from 1 on.")
          (reason string
            doc: "Exactly as it stands in the system, in the letters that it has there."))
  (instructions "{{ticket}} {{reason}}"))
(defatom close-ticket
  (description
    "Close a ticket that is solved, and nothing else; whoever does it has read the rules of the house and keeps to them, tells the desk when it is done.")
  (params (ticket integer doc: "The number that the system gives it, from 1 on."))
  (instructions "{{ticket}}"))
(defatom open-ticket
  (description
    "Open a ticket for a new problem, and nothing else; whoever does it has read the rules of the house and keeps to them, tells the desk when it is done.")
  (params (title string
            doc: "Exactly as it stands in the system, in the letters that it has there.")
          (text string
            doc: "Exactly as it stands in the system, in the letters that it has there."))
  (instructions "{{title}} {{text}}"))
(defatom second-line
  (params mail)
  (instructions "You lead a help desk. Do the one next step. {{mail}}")
  (allowed_tools spawn_subtask))
(second-line "Eva and Tom want to trade their work on 2027-03-04; the boss agrees.")
