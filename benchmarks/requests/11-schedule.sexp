; Times and people.
(defatom book-room
  (description "Book a room for a meeting")
  (params (people integer)
          (start string doc: "YYYY-MM-DD HH:MM.")
          (minutes integer)
          (has-screen boolean default: false))
  (instructions "{{people}} {{start}} {{minutes}} {{has-screen}}"))
(defatom find-slot
  (description "Find a time at which all of some people are free")
  (params (people list doc: "Names.") (minutes integer) (not-before string required: false))
  (instructions "{{people}} {{minutes}} {{not-before}}"))
(defatom move-meeting
  (description "Move a meeting to another time")
  (params (meeting string doc: "Its title.") (start string doc: "YYYY-MM-DD HH:MM."))
  (instructions "{{meeting}} {{start}}"))
(defatom send-invitation
  (description "Invite people to a meeting")
  (params (people list) (meeting string))
  (instructions "{{people}} {{meeting}}"))
(defatom assistant
  (params wish)
  (instructions "You look after a calendar, by others. Do what comes first. {{wish}}")
  (allowed_tools spawn_subtask))
(assistant "Ann, Bo and Cleo want to meet for half an hour. Nobody knows yet when they could.")
